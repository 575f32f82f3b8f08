// Numbers in [0, 1) by Marsaglia's xorshift, and normal ones by Box and Muller; `state` can be kept and set again.
function randomNumbers(seed) {
  const numbers = { state: (Math.imul(seed + 1, 2654435761) | 0) || 1, u, normal };
  function u() {
    numbers.state ^= numbers.state << 13;
    numbers.state ^= numbers.state >>> 17;
    numbers.state ^= numbers.state << 5;
    return (numbers.state >>> 0) / 4294967296;
  }
  function normal() { return Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u()); }
  for (let k = 0; k < 20; k++) u();
  return numbers;
}
