/** Nanoseconds of each unit of a Go duration. */
const UNITS_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Durations are stored by Go in 64 bits of nanoseconds: some 292 years. */
const NS_MAX = 2 ** 63;

/**
 * Reads a duration as Go writes it, such as `8h0m0s` or `1.5h`.
 *
 * @returns Seconds, rounded toward zero; undefined for a text that is none.
 * @see https://pkg.go.dev/time#ParseDuration
 */
export function parseGoDuration(text: string): number | undefined {
  if (text === "0" || text === "+0" || text === "-0") return 0;
  const [, sign, parts = ""] =
    /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/u.exec(text) ?? [];
  if (sign === undefined) return undefined;
  let sumNs = 0;
  for (const [, number, unit = ""] of parts.matchAll(/([\d.]+)([a-zµμ]+)/gu)) {
    sumNs += Number(number) * (UNITS_NS[unit] ?? Number.NaN);
  }
  if (!(sumNs < NS_MAX)) return undefined;
  const seconds = Math.trunc(sumNs / 1e9);
  return sign === "-" ? 0 - seconds : seconds;
}

/** Writes whole seconds as Go writes a duration: `8h0m0s`, `10m0s`, `0s`. */
export function formatGoDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const parts = [
    ...(hours > 0 ? [`${hours}h`] : []),
    ...(hours > 0 || minutes > 0 ? [`${minutes}m`] : []),
    `${seconds % 60}s`,
  ];
  return parts.join("");
}
