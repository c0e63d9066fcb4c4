/**
 * Words a duration as people read it: hours and minutes (`1 hour 5 minutes`), and seconds if it is
 * shorter than a minute.
 *
 * @param seconds Not negative.
 */
export function formatDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const parts = [
    ...(hours > 0 ? [count(hours, "hour")] : []),
    ...(minutes > 0 ? [count(minutes, "minute")] : []),
  ];
  return parts.join(" ") || count(seconds, "second");
}

/** Words an estimate in short: `1h 30m`; "" for none. */
export const formatEstimate = (seconds: number): string =>
  [
    [Math.floor(seconds / 3600), "h"] as const,
    [Math.floor(seconds / 60) % 60, "m"] as const,
    [seconds % 60, "s"] as const,
  ]
    .filter(([number]) => number > 0)
    .map(([number, unit]) => `${number}${unit}`)
    .join(" ");

const count = (number: number, unit: string): string =>
  `${number} ${unit}${number === 1 ? "" : "s"}`;
