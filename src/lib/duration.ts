/**
 * Words a duration as people read it: hours and minutes (`1 hour 5 minutes`), and seconds if it is shorter than a minute.
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

const count = (number: number, unit: string): string =>
  `${number} ${unit}${number === 1 ? "" : "s"}`;
