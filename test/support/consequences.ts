import { runConsequences } from "../../src/domain/consequences/run-consequences.ts";
import { failing, serveFailing } from "./faults.ts";
import type { TestRepo, TestUser } from "./make.ts";
import { type Command, pushBody } from "./push.ts";
import { systemCtx } from "./system.ts";

const SETTINGS = { ROOT_URL: "https://forge.example" };

/** Bindings that work, except that queue messages are dropped, so that nothing runs by itself. */
export const silentBindings = () =>
  failing({ at: Infinity, isDone: false, isDeath: false }).bindings;

/** Draws the consequences of all pending events. */
export const drawConsequences = (
  bindings: Partial<Env> = silentBindings(),
  now = Date.now() + 1000,
): Promise<void> => runConsequences(systemCtx(bindings, now, SETTINGS));

/** Pushes without a message to the queue: what follows is left to `drawConsequences`. */
export async function pushQuietly(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  commands: readonly Command[],
  pack?: Uint8Array,
): Promise<string> {
  const request = new Request(`http://x/${repo.owner}/${repo.name}.git/git-receive-pack`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-git-receive-pack-request",
      Authorization: `token ${as.token}`,
    },
    body: pushBody(commands, pack ? { pack } : {}),
  });
  const answer = await serveFailing(request, silentBindings());
  return new TextDecoder().decode(await answer?.arrayBuffer());
}
