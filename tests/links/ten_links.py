"""Ten addresses, two per page, each small: what they show is recorded, and must stay as it is."""

from typing import NamedTuple


class Link(NamedTuple):
    """An address with the page that reads it; `page` is the name of a function of `tests.links.page_results`."""

    name: str
    page: str
    address: str


# The two sweeps, as `ohash.ui.sweeps.sharing` writes them: a grid of beta and C on digits with two seeds, and cases of
# three methods on patches with a grid of r.
SWEEP_GRID = (
    "eNoljsEKAyEMRH9Fcl5EaXcPve5nFCnZJlgLK0XtSfz3JvY2eUxmpkPGk-Fm4OCGBjOZHRYDlZmq4LtbjA8CDqxq60DYRDZ9oRRT"
    "q2ovcvpNxCliu4r4YCoasDpJgPeXItMD51vj3F4VhvBYEs1UbZ919rIYZ1et3P_AeZlgXVD_U6rnrD7C-AFERTOZ"
)
SWEEP_CASES = (
    "eNpdjkELwjAMhf9KyXnIlKLi1Z8hY8QlrBPbjraeyv67SfEwvL2XfO8lFQJ6hpsBz8VFyiYGs2KZHGfoDGRmyrJ-XAZxT8zKViAs"
    "IovmdvCKS1LY9r2414dmphEbxYEa4sWc7SZqTgu1rqT1186c7KDzSYrbxfp7SePRafgusj8chdrv_NvB3yjFgoUJtmH7ArlRQsc="
)

TEN = (
    Link(
        "live-changes", "live",
        "/?dataset=fashion&method=oh&r=32&beta=0.4&C=0.5&pairs=3000&seed=3&changes=1000:C:0.05,2000:beta:0.6",
    ),
    Link(
        "live-drift", "live",
        "/?dataset=digits&method=mmoh&T=4&r=16&pairs=3000&drift=rotate&drift_at=1500&reencode=every&reencode_every=400"
        "&database=seen&judged_by=test&seed=1&Beta=0.7&T=4&utm_source=mail",
    ),
    Link(
        "compare-seeds", "comparison",
        "/compare?dataset=fashion&methods=oh:C=1,itq,rabitq,sketch_hash&bits=32&pairs=1200&sweep=false&seeds=0,4",
    ),
    Link(
        "compare-trials", "comparison",
        "/compare?dataset=words&methods=oh,lsh,pq,no_such,itq&bits=16&pairs=600&m=64&trials=2&judged_at=tenths",
    ),
    Link("data-patches", "data", "/data?dataset=patches"),
    Link("data-words", "data", "/data?dataset=words"),
    Link("sweep-grid", "sweep", f"/sweeps?spec={SWEEP_GRID}"),
    Link("sweep-cases", "sweep", f"/sweeps?spec={SWEEP_CASES}"),
    Link("paper-digits", "paper", "/paper?profile=tiny-digits"),
    Link("paper-patches", "paper", "/paper?profile=tiny-patches"),
)  # fmt: skip
