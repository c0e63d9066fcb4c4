import { escapeHtml, formatAttributes } from "./html.ts";
import type { MarkupOptions } from "./markup-options.ts";

/** Number of digits of an abbreviated object id. */
export const SHOWN_DIGITS = 10;

const NAME = "([\\w.-]{1,100})";
const ISSUE_PATH = new RegExp(
  `^/${NAME}/${NAME}/(?:issues|pulls)/(\\d{1,18})(?:\\?entry=\\d+)?(?:#issuecomment-(\\d+))?$`,
);
const COMMIT_PATH = new RegExp(
  `^/${NAME}/${NAME}/commit/([0-9a-f]{7,64})((?:\\.(?:diff|patch))?(?:/[^?#]*)?)(.*)$`,
);
/** A file or folder of a commit, by its full id. */
const PERMALINK = new RegExp(
  `^/${NAME}/${NAME}/(?:src|raw|media|blame|commits)/commit/` +
    "([0-9a-f]{40}|[0-9a-f]{64})(/[^?#]*)?([?#].*)?$",
);
const COMPARE_PATH = new RegExp(
  `^/${NAME}/${NAME}/compare/([0-9a-f]{7,64})(\\.{2,3})([0-9a-f]{7,64})$`,
);

/**
 * Formats a bare URL of this server as a link with a short text: `#12`, `owner/repo#12`,
 * `0123456789`, `0123456789/src/a.ts (L1-L2)`.
 *
 * Nothing is looked up, so the short text reveals no more than the URL.
 *
 * @returns Undefined if the URL is not that of an issue, commit, file of a commit or comparison.
 */
export function formatServerUrl(url: string, options: MarkupOptions): string | undefined {
  const { rootUrl, repo } = options;
  if (!repo || !url.startsWith(`${rootUrl}/`)) return undefined;
  const path = url.slice(rootUrl.length);

  const issue = ISSUE_PATH.exec(path);
  if (issue) {
    const [, owner = "", name = "", index = "", comment] = issue;
    const isHere = isSame(owner, repo.owner) && isSame(name, repo.name);
    const text = `${isHere ? "" : `${owner}/${name}`}#${index}${comment ? " (comment)" : ""}`;
    return `<a${formatAttributes({ href: url, class: "ref-issue" })}>${escapeHtml(text)}</a>`;
  }
  const commit = COMMIT_PATH.exec(path) ?? PERMALINK.exec(path);
  if (commit) {
    const [, , , id = "", below = "", rest = ""] = commit;
    const fragment = /#(.+)$/.exec(rest)?.[1];
    const place = fragment === undefined ? "" : ` (${fragment})`;
    return formatCommitLink(url, id.slice(0, SHOWN_DIGITS) + below + place);
  }
  const comparison = COMPARE_PATH.exec(path);
  if (comparison) {
    const [, , , from = "", dots = "", to = ""] = comparison;
    const text = from.slice(0, SHOWN_DIGITS) + dots + to.slice(0, SHOWN_DIGITS);
    const attributes = formatAttributes({ href: url, class: "compare" });
    return `<a${attributes}><code class="nohighlight">${text}</code></a>`;
  }
  return undefined;
}

export function formatCommitLink(url: string, text: string): string {
  const attributes = formatAttributes({ href: url, class: "commit" });
  return `<a${attributes}><code>${escapeHtml(text)}</code></a>`;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
