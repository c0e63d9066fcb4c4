import { invalid } from "../../lib/failure.ts";

/** What a hook can be told of. */
const HOOK_EVENTS = [
  "create",
  "delete",
  "fork",
  "issue_assign",
  "issue_comment",
  "issue_label",
  "issue_milestone",
  "issues",
  "package",
  "pull_request",
  "pull_request_assign",
  "pull_request_comment",
  "pull_request_label",
  "pull_request_milestone",
  "pull_request_review",
  "pull_request_review_request",
  "pull_request_sync",
  "push",
  "release",
  "repository",
  "status",
  "wiki",
  "workflow_job",
  "workflow_run",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

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
