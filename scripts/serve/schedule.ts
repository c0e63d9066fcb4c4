import { parseCron } from "./cron.ts";

/**
 * Fires cron triggers at the start of each minute, as the platform does; the local runtime has no
 * scheduler of its own. Each trigger also fires once at the start: local queues lose their pending
 * messages when the process stops, and the triggers requeue them. A trigger whose last run has not
 * ended is skipped: on one machine, concurrent runs only slow each other down.
 *
 * @param fire Runs one trigger to its end. Its errors are logged and have no other effect.
 * @returns A function that stops the schedule.
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

/**
 * Milliseconds until shortly after the next minute: a timer that fires early would run the previous
 * minute again.
 */
function untilNextMinute(): number {
  return 60_000 - (Date.now() % 60_000) + 20;
}
