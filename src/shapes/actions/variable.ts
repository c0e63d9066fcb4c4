import { z } from "@hono/zod-openapi";

import type { ActionVariable } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";

export const Variable = z
  .object({
    owner_id: Int64.openapi({ description: "The account that has the variable; 0 for none" }),
    repo_id: Int64.openapi({ description: "The repository that has the variable; 0 for none" }),
    name: z.string().openapi({ example: "REGION" }),
    data: z.string().openapi({ description: "The value" }),
    description: z.string(),
  })
  .openapi("ActionVariable");

export const toVariable = (variable: ActionVariable): z.infer<typeof Variable> => ({
  owner_id: variable.ownerId ?? 0,
  repo_id: variable.repoId ?? 0,
  name: variable.name,
  data: variable.value,
  description: variable.description,
});
