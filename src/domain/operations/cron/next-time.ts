const MINUTE_MS = 60_000;
/** Schedules repeat within a day. */
const MINUTES_MAX = 24 * 60;

/**
 * The next time at which a schedule is due, in UTC.
 *
 * @param schedule A cron expression whose minutes and hours are `*`, a number or a step such as
 * every tenth, and whose other fields are `*`.
 * @param after In milliseconds; the result is later, at the beginning of a minute.
 */
export function nextTime(schedule: string, after: number): number {
  const [minutes = "", hours = "", ...others] = schedule.split(" ");
  if (others.join(" ") !== "* * *") throw new Error(`not a schedule within a day: ${schedule}`);
  let at = Math.floor(after / MINUTE_MS) * MINUTE_MS;
  for (let count = 0; count < MINUTES_MAX; count++) {
    at += MINUTE_MS;
    const time = new Date(at);
    if (isDue(minutes, time.getUTCMinutes()) && isDue(hours, time.getUTCHours())) return at;
  }
  throw new Error(`never due: ${schedule}`);
}

function isDue(field: string, value: number): boolean {
  const [, step, fixed] = /^(?:\*(?:\/(\d{1,2}))?|(\d{1,2}))$/.exec(field) ?? [];
  if (fixed !== undefined) return value === Number(fixed);
  if (step !== undefined) return value % Number(step) === 0;
  if (field === "*") return true;
  throw new Error(`not a field of a schedule: ${field}`);
}
