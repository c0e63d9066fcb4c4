import { formatAttributes } from "./html.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { referenceToken } from "./reference-tokens.ts";
import type { ReferenceList } from "./references.ts";
import type { TextRule } from "./text-rules.ts";

// A name ends with a letter or digit, so that a full stop after it is not part of it.
const MENTION =
  /(?<![\w/.@&-])@([a-z\d](?:[\w.-]{0,98}[a-z\d])?)(?:\/([a-z\d](?:[\w.-]{0,98}[a-z\d])?))?(?![\w/-])/gi;

/** Links `@user`, and in a repository `@org/team`, if the account or team exists. */
export function mentions(list: ReferenceList, options: MarkupOptions): TextRule {
  return {
    pattern: MENTION,
    isForLinks: false,
    toToken(match) {
      const [text, name = "", team] = match;
      if (team === undefined) {
        const user = list.user(name);
        return user === undefined
          ? undefined
          : referenceToken(text, (known) =>
              known.users.has(user) ? formatMention(`/${name}`, text, options) : undefined,
            );
      }
      const reference = options.repo && list.team({ org: name, team });
      return reference
        ? referenceToken(text, (known) =>
            known.teams.has(reference)
              ? formatMention(`/org/${name}/teams/${team}`, text, options)
              : undefined,
          )
        : undefined;
    },
  };
}

function formatMention(path: string, text: string, options: MarkupOptions): string {
  return `<a${formatAttributes({ href: options.rootUrl + path })}>${text}</a>`;
}
