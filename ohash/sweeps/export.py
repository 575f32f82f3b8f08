"""A sweep as Python code that repeats it."""

from typing import Any

from ohash.engine.export import PLACEHOLDER_FILES, Files, own_data_code
from ohash.engine.params import OWN
from ohash.sweeps.sweep import Sweep


def code_for(sweep: Sweep, files: Files = PLACEHOLDER_FILES) -> str:
    """Python that repeats a sweep with the package and prints its points; `files` are those of the user's own data.

    >>> from ohash.sweeps.sweep import build_sweep
    >>> print(code_for(build_sweep("beta", base={"dataset": "digits"}, grid={"beta": [0.4, 0.5]}, seeds=2)))
    import ohash
    <BLANKLINE>
    results = ohash.sweep(
        name='beta',
        base={'dataset': 'digits'},
        grid={'beta': [0.4, 0.5]},
        seeds=2,
    )
    for point in results.points:
        setting = ", ".join(f"{key} = {value}" for key, value in point.at) or results.sweep.name
        print(f"{setting}: mAP {point.mean():.3f}, recall@10 {point.mean('recall_10'):.3f}, {len(point.numbers)} seeds")
    <BLANKLINE>
    """
    contents = dict.fromkeys(cell.params.content for cell in sweep.cells if cell.params.dataset == OWN)
    base = {key: value for key, value in sweep.base if not contents or key not in ("dataset", "content")}
    count = len(sweep.seeds)
    arguments: dict[str, Any] = {
        "name": sweep.name,
        "base": base,
        "grid": {key: list(values) for key, values in sweep.grid},
        "cases": [dict(case) for case in sweep.cases if case],
        "seeds": count if sweep.seeds == tuple(range(count)) else list(sweep.seeds),
    }
    lines = [f"    {name}={value!r},\n" for name, value in arguments.items() if value not in ({}, [])]
    return (
        f"import ohash\n\n{''.join(own_data_code(content, files) for content in contents)}"
        f"results = ohash.sweep(\n{''.join(lines)}{'    data=data,' + chr(10) if contents else ''})\n"
        "for point in results.points:\n"
        '    setting = ", ".join(f"{key} = {value}" for key, value in point.at) or results.sweep.name\n'
        "    print(f\"{setting}: mAP {point.mean():.3f}, recall@10 {point.mean('recall_10'):.3f}, "
        '{len(point.numbers)} seeds")\n'
    )
