import { escapeHtml, formatAttributes } from "./html.ts";
import { formatRepoUrl } from "./links.ts";
import type { RepoName } from "./markup-options.ts";
import { referenceToken } from "./reference-tokens.ts";
import type { ReferenceList } from "./references.ts";
import type { TextRule } from "./text-rules.ts";

const ISSUE = /(?<![\w/.&#!@-])(?:([\w.-]{1,100})\/([\w.-]{1,100}))?[#!](\d{1,15})(?![\w/#-])/g;

/** Links `#12`, `!12` and `owner/repo#12`, if the issue or pull request exists. */
export function issueReferences(list: ReferenceList, rootUrl: string, home: RepoName): TextRule {
  return {
    pattern: ISSUE,
    isForLinks: false,
    toToken(match) {
      const [text, owner, name, digits] = match;
      const issue = list.issue({
        ...(owner && name ? { owner, name } : {}),
        index: Number(digits),
      });
      if (!issue) return undefined;
      const repo = owner && name ? { owner, name } : home;
      return referenceToken(text, (known) => {
        const path = known.issues.get(issue);
        if (path === undefined) return undefined;
        const href = `${formatRepoUrl(rootUrl, repo)}/${path}/${issue.index}`;
        return `<a${formatAttributes({ href, class: "ref-issue" })}>${escapeHtml(text)}</a>`;
      });
    },
  };
}
