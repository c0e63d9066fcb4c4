import { z } from "zod";

import { readYaml } from "../../../lib/yaml.ts";

/** Aliases that are expanded in a file. */
const ALIASES_MAX = 10;

/** Settings of the new issue page besides the templates. */
export interface IssueConfig {
  /** Whether issues without a template are allowed. */
  isBlankAllowed: boolean;
  /** External contact links. */
  links: { name: string; url: string; about: string }[];
}

export const DEFAULT_ISSUE_CONFIG: IssueConfig = { isBlankAllowed: true, links: [] };

const LinkText = z.string("a text is expected").nullish();
const Config = z.object({
  blank_issues_enabled: z.boolean("true or false is expected").nullish(),
  contact_links: z
    .array(z.object({ name: LinkText, url: LinkText, about: LinkText }, "a mapping is expected"))
    .nullish(),
});

/** @returns The configuration, or an error message. */
export async function readIssueConfig(text: string): Promise<IssueConfig | string> {
  let value: unknown;
  try {
    value = (await readYaml(text, "core", ALIASES_MAX)) ?? {};
  } catch (error) {
    return `not YAML: ${error instanceof Error ? error.message : ""}`;
  }
  const { data, error } = Config.safeParse(value);
  if (!data) {
    const [issue] = error.issues;
    return [issue?.path.join("."), issue?.message].filter((part) => part !== "").join(": ");
  }
  const links: IssueConfig["links"] = [];
  for (const [at, { name, url, about }] of (data.contact_links ?? []).entries()) {
    const missing = Object.entries({ name, url, about }).find(([, part]) => !part)?.[0];
    if (!name || !url || !about) {
      return `contact_link at position ${at + 1} is missing ${missing} key`;
    }
    if (!URL.canParse(url)) return `${url} is not a valid URL`;
    links.push({ name, url, about });
  }
  return { isBlankAllowed: data.blank_issues_enabled ?? true, links };
}
