import { escapeHtml, formatAttributes } from "./html.ts";
import { generated } from "./token-tree.ts";
import type { RepoName } from "./markup-options.ts";
import type { Tracker } from "./references.ts";
import type { TextRule } from "./text-rules.ts";

const NUMERIC = /(?<![\w/.&#!@-])#(\d{1,15})(?![\w-])/g;
const ALPHANUMERIC = /(?<![\w/.&#!@-])([A-Z]{1,10}-[1-9]\d{0,14})(?![\w-])/g;

/**
 * Links the issues of a repository's external tracker. Nothing is looked up: the text alone shows
 * what is one.
 */
export async function trackerReferences(tracker: Tracker, repo: RepoName): Promise<TextRule[]> {
  const pattern = await findPattern(tracker);
  if (!pattern) return [];
  return [
    {
      pattern,
      isForLinks: false,
      toToken(match) {
        const [text, index] = match;
        const href = index === undefined ? undefined : formatTrackerUrl(tracker, repo, index);
        if (href === undefined) return undefined;
        const attributes = { href, class: "ref-issue ref-external-issue" };
        return generated(`<a${formatAttributes(attributes)}>${escapeHtml(text)}</a>`);
      },
    },
  ];
}

async function findPattern({ style, regexpPattern }: Tracker) {
  if (style === "numeric") return NUMERIC;
  if (style === "alphanumeric") return ALPHANUMERIC;
  const { openPattern } = await import("./linear-pattern.ts");
  return openPattern(regexpPattern);
}

/**
 * SECURITY: administrators of the repository choose the format, so only http and https are linked.
 */
function formatTrackerUrl({ format }: Tracker, repo: RepoName, index: string): string | undefined {
  const values: Record<string, string> = { user: repo.owner, repo: repo.name, index };
  const text = format.replaceAll(/\{(user|repo|index)\}/g, (_, name: string) =>
    encodeURIComponent((values[name] ?? "").toWellFormed()),
  );
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
