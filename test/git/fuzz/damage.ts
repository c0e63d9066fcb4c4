import { joinBytes } from "../../../src/git/wire/pkt-line.ts";
import type { Random } from "../support/random.ts";

/** Bytes that are special to some parser. */
const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x20, 0x30, 0x39, 0x3c, 0x3e];

/**
 * Damages bytes as faulty networks, faulty disks and attackers do: flips, cuts, repeats, extreme
 * values.
 */
export function damage(random: Random, from: Uint8Array): Uint8Array {
  let bytes = from.slice();
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(bytes.length + 1);
    const to = at + random.below(Math.min(64, bytes.length - at) + 1);
    switch (random.below(6)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        bytes[at] = random.pick(EXTREMES);
        break;
      case 2:
        bytes = joinBytes([bytes.subarray(0, at), bytes.subarray(to)]).slice();
        break;
      case 3:
        bytes = joinBytes([bytes.subarray(0, to), bytes.subarray(at)]).slice();
        break;
      case 4: {
        const run = new Uint8Array(1 + random.below(200)).fill(random.pick(EXTREMES));
        bytes = joinBytes([bytes.subarray(0, at), run, bytes.subarray(at)]).slice();
        break;
      }
      default:
        bytes = bytes.slice(0, at);
    }
  }
  return bytes;
}

/**
 * Damages a message of pkt-lines line by line and recomputes the length of each line, so that only
 * the content of the lines is wrong.
 */
export function damageLines(random: Random, lines: readonly string[]): Uint8Array {
  const changed = [...lines];
  for (let times = 1 + random.below(2); times > 0; times--) {
    const at = random.below(changed.length);
    const line = changed[at] ?? "";
    switch (random.below(4)) {
      case 0:
        changed.splice(at, 1);
        break;
      case 1:
        changed.splice(random.below(changed.length + 1), 0, line);
        break;
      case 2:
        changed.splice(at, 1, random.pick(["0000", "0001", "0002", ""]));
        break;
      default:
        if (line.length !== 4) {
          changed[at] = Buffer.from(damage(random, Buffer.from(line, "latin1"))).toString("latin1");
        }
    }
  }
  return pktLines(...changed);
}

/** Formats lines as packets; a line of four characters is a marker and is written as it is. */
export function pktLines(...lines: string[]): Uint8Array {
  const framed = lines.map((line) =>
    line.length === 4 ? line : (line.length + 4).toString(16).padStart(4, "0") + line,
  );
  return Uint8Array.from(Buffer.from(framed.join(""), "latin1"));
}
