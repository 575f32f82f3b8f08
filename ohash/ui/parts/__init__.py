"""What several pages share: widgets of parameters, the list of data sets, galleries, charts, links and notices."""
