import { z } from "zod";

import { optionalShort } from "../fields.ts";
import type { ForeignLabel, ForeignPage } from "../forge.ts";
import { Id, filledText } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { readListPage } from "./list-page.ts";

/** @see https://docs.github.com/en/rest/issues/labels#list-labels-for-a-repository */
const Label = z.object({
  id: Id,
  name: filledText,
  color: z.string().regex(/^[0-9a-f]{6}$/i),
  description: optionalShort,
});

/** Reads a page of labels, in GitHub's order. */
export async function readLabels(
  api: GitHubApi,
  cursor: string | undefined,
): Promise<ForeignPage<ForeignLabel>> {
  const { items, next } = await readListPage(api, `${api.path}/labels`, Label, {}, cursor);
  return {
    items: items.map(({ id, name, color, description }) => ({
      foreignId: String(id),
      name,
      color,
      description,
      // GitHub's labels have no scopes, and can't be archived.
      isExclusive: false,
      isArchived: false,
    })),
    next,
  };
}
