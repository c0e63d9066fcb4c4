import { finishInTurns } from "../../../git/budget.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { containingInTurns } from "../../../git/walk/containing.ts";
import type { RefNames } from "../git/ref-names.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";

/** Names that are listed of each kind. */
const NAMES_MAX = 500;

/** The branches and tags from which a commit is reachable. */
export interface ContainingRefs {
  readonly branches: RefNames;
  readonly tags: RefNames;
}

/**
 * Lists the branches and tags that contain a commit, in the order of refs; the first 500 of each.
 *
 * Cost: a walk over the commits of later generations in memory.
 */
export async function listContaining(
  { state, repository: { graph, objects } }: RepositorySnapshot,
  commit: Node,
): Promise<ContainingRefs> {
  const named = state.refs.filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name));
  const tips = named.map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid));
  const contains = await finishInTurns(containingInTurns(graph, commit, tips), objects.budget);
  const found = named.filter((_, at) => contains(tips[at] as Node));
  const namesOf = (prefix: string): RefNames => {
    const names = found.flatMap(({ name }) =>
      name.startsWith(prefix) ? [decodeText(name.slice(prefix.length) as ByteText)] : [],
    );
    return { names: names.slice(0, NAMES_MAX), total: names.length };
  };
  return { branches: namesOf("refs/heads/"), tags: namesOf("refs/tags/") };
}
