"""The machine room: compiling and its cache, threads, progress, worker processes, archives, user folders."""
