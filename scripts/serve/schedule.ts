import { parseCron } from "./cron.ts";

/**
 * Fires cron triggers at the start of each minute, as the platform does; the local runtime has no clock
 * of its own. Each is fired once at the beginning, too: queues of one machine forget what waited when the
 * process stopped, and the triggers find it again. A trigger whose last run has not ended is left out: on one machine, runs that pile up
 * only slow each other down.
 *
 * @param fire Runs one trigger to its end. What it throws is reported and changes nothing.
 * @returns Stops the clock.
 */
export function startSchedule(
  crons: string[],
  fire: (cron: string, at: Date) => Promise<unknown>,
): () => void {
  const triggers = crons.map((cron) => ({ cron, isDue: parseCron(cron), isRunning: false }));
  if (triggers.length === 0) return () => {};
  let timer = setTimeout(tick, untilNextMinute());
  for (const trigger of triggers) run(trigger, new Date());
  return () => clearTimeout(timer);

  function tick(): void {
    const now = new Date();
    timer = setTimeout(tick, untilNextMinute());
    for (const trigger of triggers) {
      if (!trigger.isRunning && trigger.isDue(now)) run(trigger, now);
    }
  }

  function run(trigger: (typeof triggers)[number], at: Date): void {
    trigger.isRunning = true;
    fire(trigger.cron, at)
      .catch((error: unknown) => console.error(`cron trigger "${trigger.cron}" failed:`, error))
      .finally(() => (trigger.isRunning = false));
  }
}

/** A little past the minute: a timer that fires early would otherwise run the minute before again. */
function untilNextMinute(): number {
  return 60_000 - (Date.now() % 60_000) + 20;
}
