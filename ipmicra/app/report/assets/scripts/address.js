// Addresses as numbers, so that a search for a prefix or range finds what lies in it.

const group = (text) => (text === "" ? [] : text.split(":"));

// Return [bits, number], or null if the text is no address.
const addressOf = (text) => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) {
    return [32, text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n)];
  }
  if (!/^[\da-f:]+$/i.test(text) || text.split("::").length > 2 || !text.includes(":")) return null;
  const [head, tail] = text.split("::");
  const before = group(head);
  const after = group(tail ?? "");
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 0) return null;
  const parts = [...before, ...Array(missing).fill("0"), ...after];
  if (parts.some((part) => !/^[\da-f]{1,4}$/i.test(part))) return null;
  return [128, parts.reduce((sum, part) => sum * 65536n + BigInt(`0x${part}`), 0n)];
};

// Return {bits, first, last} of `a/length` or `a-b`, or null.
const rangeOf = (text) => {
  const [one, other] = text.split(/[/-]/);
  const first = addressOf(one);
  if (!first || other === undefined) return null;
  const [bits, number] = first;
  if (text.includes("/")) {
    if (!/^\d{1,3}$/.test(other) || Number(other) > bits) return null;
    const rest = BigInt(bits - Number(other));
    const low = (number >> rest) << rest;
    return { bits, first: low, last: low + (1n << rest) - 1n };
  }
  const last = addressOf(other);
  return last && last[0] === bits ? { bits, first: number, last: last[1] } : null;
};

const isInside = (range, text) => {
  const found = addressOf(text);
  return found !== null && found[0] === range.bits && range.first <= found[1] && found[1] <= range.last;
};
