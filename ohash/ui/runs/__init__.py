"""The Runs page: filters, the table, actions on the selected runs, and their comparison."""
