import { escapeHtml, formatAttributes } from "./html.ts";
import type { MarkupOptions } from "./markup-options.ts";

/** Digits of an object id that are shown. */
export const SHOWN_DIGITS = 10;

const NAME = "([\\w.-]{1,100})";
const ISSUE_PATH = new RegExp(
  `^/${NAME}/${NAME}/(?:issues|pulls)/(\\d{1,18})(?:#issuecomment-(\\d+))?$`,
);
const COMMIT_PATH = new RegExp(`^/${NAME}/${NAME}/commit/([0-9a-f]{7,64})([/?#].*)?$`);
const COMPARE_PATH = new RegExp(
  `^/${NAME}/${NAME}/compare/([0-9a-f]{7,64})(\\.{2,3})([0-9a-f]{7,64})$`,
);

/**
 * A bare URL of this server, shown as what it names: `#12`, `owner/repo#12`, `0123456789`.
 * Undefined when it names no issue, commit or comparison.
 *
 * Nothing is looked up: the short form says no more than the URL does.
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
  const commit = COMMIT_PATH.exec(path);
  if (commit) {
    const [, , , id = "", rest = ""] = commit;
    return formatCommitLink(url, id.slice(0, SHOWN_DIGITS) + rest);
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
