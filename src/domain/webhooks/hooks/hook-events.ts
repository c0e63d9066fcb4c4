import { HOOK_EVENTS, type HookEvent } from "../../../events/webhooks/payloads/hook-event.ts";
import { invalid } from "../../../lib/failure.ts";

/** Names that stand for others: a group by the name of its first member, which has one of its own too. */
const ALIASES: Readonly<Record<string, readonly HookEvent[]>> = {
  issues: HOOK_EVENTS.filter((name) => name.startsWith("issue")),
  issues_only: ["issues"],
  pull_request: HOOK_EVENTS.filter((name) => name.startsWith("pull_request")),
  pull_request_only: ["pull_request"],
};

const isEvent = (name: string): name is HookEvent =>
  (HOOK_EVENTS as readonly string[]).includes(name);

/**
 * The events that a list of names stands for, sorted, each once; whatever the case of the names. An
 * empty list means pushes.
 *
 * @throws Failure `invalid` for a name that is none.
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
