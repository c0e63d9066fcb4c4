import { z } from "@hono/zod-openapi";

import { Repository } from "./repository.ts";

export const SearchResults = z
  .object({ ok: z.boolean(), data: z.array(Repository) })
  .openapi("SearchResults");

export const SearchError = z
  .object({ ok: z.literal(false), error: z.string() })
  .openapi("SearchError");
