import { HOOK_EVENTS, type HookEvent } from "../../../../events/webhooks/payloads/hook-event.ts";
import { invalid } from "../../../../lib/failure.ts";

/**
 * Aliases: the name of a group selects all its events, and `…_only` selects the one event of that
 * name.
 */
const ALIASES: Readonly<Record<string, readonly HookEvent[]>> = {
  issues: HOOK_EVENTS.filter((name) => name.startsWith("issue")),
  issues_only: ["issues"],
  pull_request: HOOK_EVENTS.filter((name) => name.startsWith("pull_request")),
  pull_request_only: ["pull_request"],
};

const isEvent = (name: string): name is HookEvent =>
  (HOOK_EVENTS as readonly string[]).includes(name);

/**
 * Resolves a list of event names and aliases, case-insensitively, to sorted events without
 * duplicates. An empty list means pushes.
 *
 * @throws Failure `invalid` for an unknown name.
 */
export function parseHookEvents(names: readonly string[]): HookEvent[] {
  if (names.length === 0) return ["push"];
  const events = names.flatMap((sent) => {
    const name = sent.toLowerCase();
    if (Object.hasOwn(ALIASES, name)) return ALIASES[name] ?? [];
    if (!isEvent(name)) throw invalid(`Invalid hook event: ${sent}`);
    return [name];
  });
  return [...new Set(events)].toSorted();
}
