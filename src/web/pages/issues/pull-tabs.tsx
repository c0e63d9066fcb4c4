import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { issuePath } from "../addresses.ts";
import { Count } from "../count.tsx";

/** Comments and reviews. */
const countSaid = ({ row, reviewCommentCount }: PullContext): number =>
  row.commentCount + reviewCommentCount;

const TABS = {
  conversation: { label: "Conversation", path: "", count: countSaid },
  commits: { label: "Commits", path: "/commits", count: ({ pull }) => pull.aheadCount },
  files: { label: "Files changed", path: "/files", count: ({ pull }) => pull.changedFiles },
} as const satisfies Record<
  string,
  { label: string; path: string; count: (pull: PullContext) => number }
>;

interface PullTabsProps {
  pull: PullContext;
  current: keyof typeof TABS;
}

/** The links to the pages of a pull request. */
export function PullTabs({ pull, current }: PullTabsProps) {
  return (
    <nav aria-label="Pull request">
      <ul class="tabs">
        {Object.entries(TABS).map(([name, { label, path, count }]) => (
          <li>
            <a href={issuePath(pull) + path} aria-current={name === current ? "page" : undefined}>
              {label}{" "}
              <span class="label">
                <Count of={count(pull)} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
