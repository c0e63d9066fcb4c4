/**
 * Words a duration as people read it: hours and minutes (`1 hour 5 minutes`), and seconds if it is shorter than a minute.
 *
 * @param seconds Not negative.
 */
export function formatDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const parts = [word(hours, "hour"), word(minutes, "minute")].filter((part) => part !== "");
  return parts.join(" ") || word(seconds, "second");
}

const word = (count: number, unit: string): string =>
  count === 0 ? "" : `${count} ${unit}${count === 1 ? "" : "s"}`;
