import type { Ctx } from "../../../context.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { diffTrees, type PathChange } from "../../../git/diff/tree-diff.ts";
import { GitError } from "../../../git/error.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { WikiPageChange } from "../../../events/kinds/wiki-event.ts";
import { StepBudget } from "../../../lib/step-budget.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findNode } from "./find-node.ts";
import { addressOfFile } from "../../../shapes/wiki/wiki-path.ts";

/** Files of a push that are compared: of one that changes more, no page is known. */
const FILES_MAX = 3000;
/** Steps to compare the trees: some 0.2 s of processor time. */
const STEPS_MAX = 20_000_000;

/**
 * Lists the pages that differ between two commits of a wiki, by file. A commit that removes one
 * page and adds one has renamed it: then that is edited.
 *
 * Cost: a read of each tree that differs, within a budget.
 *
 * @param before Null for none, as `after`.
 * @returns Nothing for more than 3000 files, or trees beyond the budget.
 */
export async function listPageChanges(
  { git: { usage } }: Pick<Ctx, "git">,
  repository: OpenRepository,
  before: string | null,
  after: string | null,
): Promise<WikiPageChange[]> {
  const rootOf = async (oid: string | null) => {
    const node = await findNode(repository, oid);
    return node === NO_NODE ? undefined : repository.graph.loadRootOid(node);
  };
  const [oldRoot, newRoot] = [await rootOf(before), await rootOf(after)];
  // Without the signal of a caller who leaves: a push that was received is recorded.
  const onSteps = (steps: number): void => void (usage.steps += steps);
  const objects = repository.objects.within(new StepBudget(STEPS_MAX, { onSteps }));
  let changes: PathChange[];
  try {
    changes = await diffTrees(objects, oldRoot, newRoot, { changesMax: FILES_MAX });
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return [];
    throw error;
  }
  const pages = changes.flatMap(toPageChange);
  const [added, ...others] = pages.filter(({ action }) => action === "created");
  const isRename = added && others.length === 0 && pages.length === 2;
  return isRename && pages.some(({ action }) => action === "deleted")
    ? [{ ...added, action: "edited" }]
    : pages;
}

const ACTIONS = { added: "created", modified: "edited", deleted: "deleted" } as const;

function toPageChange(change: PathChange): WikiPageChange[] {
  const { kind } = change;
  if (kind === "renamed" || kind === "copied") return [];
  const page = addressOfFile(decodeText((kind === "deleted" ? change.old : change.new).path));
  return page === undefined ? [] : [{ action: ACTIONS[kind], page }];
}
