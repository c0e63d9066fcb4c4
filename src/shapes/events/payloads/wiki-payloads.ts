import { z } from "@hono/zod-openapi";

const Page = z.object({
  action: z.enum(["created", "edited", "deleted"]),
  page: z.string().openapi({ description: "The address of the page below the wiki's" }),
});

export const WIKI_PAYLOADS = {
  "wiki.changed": z.object({
    commit_oid: z.string().nullable(),
    comment: z.string().openapi({ description: "The beginning of the commit's message" }),
    pages: z.array(Page).openapi({ description: "The first 20 pages that changed" }),
    page_count: z.int(),
  }),
} as const;
