// Random numbers that a seed repeats: one independent stream for each name, so that what one part draws does not move another's.
import { createHash } from 'node:crypto';

export class Random {
  #state;

  constructor(seed, name) {
    this.#state = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32LE(0);
  }
  // From 0 up to but not 1 (mulberry32).
  real() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  // A whole number from `low` to `high`, both possible.
  whole(low, high) {
    return low + Math.floor(this.real() * (high - low + 1));
  }
  chance(probability) {
    return this.real() < probability;
  }
  pick(list) {
    return list[this.whole(0, list.length - 1)];
  }
}
