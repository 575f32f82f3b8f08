"""Print the table of measured deviations: python3 -m tests.models.trajectories."""

from ohash.models import hashers
from tests.models.trajectories.measure import MEASURES

if __name__ == "__main__":
    print(f"{'method':12} {'measured':>9} {'stated':>7}  over three seeds, relative to the largest entry of W")
    for key, measure in sorted(MEASURES.items()):
        check = hashers()[key].checked
        worst = max(measure(seed) for seed in range(3))
        print(
            f"{key:12} {worst:9.1e} {check.deviation if check else float('nan'):7.0e}  {check.against if check else ''}"
        )
