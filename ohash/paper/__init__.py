"""The paper's evaluation, reproduced: its figures as sweeps, its claims as tests of what was measured."""
