import { listRefNames, type RefNames } from "../../../domain/code/git/ref-names.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import type { RepositorySnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { repositoryPath, sourcePath, type SourceRoute } from "../addresses.ts";
import { Icon } from "../icon.tsx";
import type { EnteredRepository } from "./enter.ts";

/** Names in the menu, of branches and of tags. Pages of their own list all. */
const NAMES_MAX = 50;

/** The branches and tags that a page offers. */
export interface Refs {
  readonly branches: RefNames;
  readonly tags: RefNames;
}

export const readRefs = (snapshot: RepositorySnapshot): Refs => ({
  branches: listRefNames(snapshot, "refs/heads/", NAMES_MAX),
  tags: listRefNames(snapshot, "refs/tags/", NAMES_MAX),
});

interface RefChooserProps {
  page: EnteredRepository;
  revision: Revision;
  refs: Refs;
  view: SourceRoute;
  path: string;
}

/** The menu of branches and tags in which a path can be looked at. */
export function RefChooser({ page: { repo }, revision, refs, view, path }: RefChooserProps) {
  const { kind, name } = revision;
  const shown = kind === "commit" ? name.slice(0, 10) : name;
  const base = repositoryPath(repo);
  const groups = [
    { kind: "branch", label: "Branches", list: "branches", ...refs.branches },
    { kind: "tag", label: "Tags", list: "tags", ...refs.tags },
  ] as const;
  return (
    <details class="menu">
      <summary class="button">
        <Icon name={kind} />
        <span class="hidden">{`Switch ${kind} `}</span>
        {shown}
      </summary>
      <div class="menu-body">
        {refs.branches.total > NAMES_MAX ? (
          <form action={`${base}/branches`} role="search">
            <input
              type="search"
              name="q"
              aria-label="Search branches"
              placeholder="Search branches"
            />
          </form>
        ) : undefined}
        {groups.map((group) =>
          group.total === 0 ? undefined : (
            <>
              <a
                class="menu-head"
                href={`${base}/${group.list}`}
              >{`${group.label} (${group.total})`}</a>
              <ul>
                {group.names.map((each) => (
                  <li>
                    <a
                      href={sourcePath(repo, view, { kind: group.kind, name: each }, path)}
                      aria-current={kind === group.kind && name === each ? "true" : undefined}
                    >
                      {each}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          ),
        )}
      </div>
    </details>
  );
}
