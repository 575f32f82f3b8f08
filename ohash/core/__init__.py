"""L0: arrays in, arrays out. The equations of the paper, twice: readable (`loss`) and fast (`kernels`)."""
