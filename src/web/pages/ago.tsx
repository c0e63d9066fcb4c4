import { formatTime } from "../../lib/time.ts";

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [31_556_952, "year"],
  [2_629_746, "month"],
  [604_800, "week"],
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];

/** A time as its distance from now; its title is the exact time, in the zone of the reader. */
export function Ago({ at, now }: { at: number; now: number }) {
  const exact = formatTime(at);
  return (
    <time dateTime={exact} title={`${exact.slice(0, 10)} ${exact.slice(11, 16)} UTC`}>
      {distance(at, now)}
    </time>
  );
}

/** The words for the time from `at` to `now`, both in milliseconds. */
function distance(at: number, now: number): string {
  const seconds = Math.abs(now - at) / 1000;
  const unit = UNITS.find(([size]) => seconds >= size);
  if (!unit) return "now";
  const count = Math.floor(seconds / unit[0]);
  const words = `${count} ${unit[1]}${count === 1 ? "" : "s"}`;
  return at > now ? `in ${words}` : `${words} ago`;
}
