import { requireAdministrationInReach } from "../../../auth/access/credential-reach.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { editRepository, type RepositoryEdit } from "./edit-repository.ts";

/** The repository settings that a pusher may change with `git push -o`. */
export type PushOptions = Pick<RepositoryEdit, "isPrivate" | "isTemplate">;

/**
 * Parses the `key=value` options of a push. The last option of a name wins; unknown options and
 * values that are not booleans are ignored, as in Gitea.
 */
export function parsePushOptions(lines: readonly string[]): PushOptions {
  const options: PushOptions = {};
  for (const line of lines) {
    const equals = line.indexOf("=");
    const value = equals < 0 ? undefined : FLAGS.get(line.slice(equals + 1));
    if (value === undefined) continue;
    const name = line.slice(0, equals);
    if (name === "repo.private") options.isPrivate = value;
    if (name === "repo.template") options.isTemplate = value;
  }
  return options;
}

const FLAGS = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

/**
 * Applies the settings requested by a push, after its refs have been updated.
 *
 * @returns The reason for the pusher if the settings were not applied; undefined if they were.
 */
export async function applyPushOptions(
  ctx: Ctx,
  repo: RepositoryContext,
  options: PushOptions,
): Promise<string | undefined> {
  if (Object.keys(options).length === 0) return undefined;
  // SECURITY: write access does not suffice to change settings: this requires the same permission
  // as the API's edit.
  if (!isAllowed(repo, { mode: "admin" })) return "only its administrators change the repository";
  try {
    requireAdministrationInReach(ctx.actor);
    await editRepository(ctx, repo, options);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}
