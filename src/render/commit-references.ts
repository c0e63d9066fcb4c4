import { formatRepoUrl } from "./links.ts";
import type { RepoName } from "./markup-options.ts";
import { referenceToken } from "./reference-tokens.ts";
import type { ReferenceList } from "./references.ts";
import { formatCommitLink, SHOWN_DIGITS } from "./server-urls.ts";
import type { TextRule } from "./text-rules.ts";

const COMMIT = /(?<![\w/.&#@:-])(?:([\w.-]{1,100})\/([\w.-]{1,100})@)?([0-9a-f]{7,64})(?![\w/@-])/g;

/** Links full and abbreviated commit ids, and `owner/repo@id`, if the commit exists. */
export function commitReferences(list: ReferenceList, rootUrl: string, home: RepoName): TextRule {
  return {
    pattern: COMMIT,
    isForLinks: false,
    toToken(match) {
      const [text, owner, name, prefix = ""] = match;
      const commit = list.commit({ ...(owner && name ? { owner, name } : {}), prefix });
      if (!commit) return undefined;
      const repo = owner && name ? { owner, name } : home;
      return referenceToken(text, (known) => {
        const id = known.commits.get(commit);
        if (id === undefined) return undefined;
        const shown = id.slice(0, SHOWN_DIGITS);
        const label = owner && name ? `${owner}/${name}@${shown}` : shown;
        return formatCommitLink(`${formatRepoUrl(rootUrl, repo)}/commit/${id}`, label);
      });
    },
  };
}
