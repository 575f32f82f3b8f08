// Codes as integers, buckets of equal codes, and how well codes follow labels.

function bitCount(v) {
  v -= (v >>> 1) & 0x55555555;
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// The bits of W at one place as an integer; bit k has the value 2^k.
function codeNumber(W, z) {
  let code = 0;
  for (let k = 0; k < W.length; k++) if (project(W[k], z) >= 0) code |= 1 << k;
  return code;
}

function signsOf(code, r) { return [...Array(r).keys()].map((k) => ((code >> k) & 1 ? 1 : -1)); }

// Points by code: how many, and of which classes.
function bucketsOf(codes, labels) {
  const buckets = new Map();
  codes.forEach((code, at) => {
    if (!buckets.has(code)) buckets.set(code, { code, size: 0, counts: Array(N_CLASSES).fill(0) });
    const bucket = buckets.get(code);
    bucket.size += 1;
    bucket.counts[labels[at]] += 1;
  });
  for (const bucket of buckets.values()) {
    bucket.most = bucket.counts.indexOf(Math.max(...bucket.counts));
    bucket.purity = bucket.counts[bucket.most] / bucket.size;
  }
  return buckets;
}

// Expected average precision over all orders of equal distances, averaged over the points as queries; a distance
// is the smallest over the T models, and where these are equal their sum decides. NaN without a pair of one class.
function meanAP(codes, labels, r) {
  const T = codes.length, n = labels.length, width = T * r + 1, sizes = (r + 1) * width;
  const all = new Int32Array(sizes), relevant = new Int32Array(sizes);
  let total = 0, queries = 0;
  for (let q = 0; q < n; q++) {
    all.fill(0);
    relevant.fill(0);
    let wanted = 0;
    for (let other = 0; other < n; other++) {
      if (other === q) continue;
      let least = r, sum = 0;
      for (let m = 0; m < T; m++) {
        const D = bitCount(codes[m][q] ^ codes[m][other]);
        sum += D;
        if (D < least) least = D;
      }
      const at = least * width + sum, same = labels[q] === labels[other] ? 1 : 0;
      all[at] += 1;
      relevant[at] += same;
      wanted += same;
    }
    if (wanted === 0) continue;
    total += averagePrecision(all, relevant, wanted);
    queries += 1;
  }
  return total / queries;
}

// Expected over all orders of ties; `all` and `relevant` count the items of each tie, nearest first.
function averagePrecision(all, relevant, wanted) {
  let seen = 0, hits = 0, ap = 0;
  for (let at = 0; at < all.length; at++) {
    const size = all[at], good = relevant[at];
    if (good > 0) {
      for (let k = 1; k <= size; k++) {
        const before = size > 1 ? (k - 1) * (good - 1) / (size - 1) : 0;
        ap += good / size * (hits + 1 + before) / (seen + k);
      }
    }
    seen += size;
    hits += good;
  }
  return ap / wanted;
}
