import { z } from "@hono/zod-openapi";

import { LABEL_ORDERS } from "../../domain/repos/labels/list-labels.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { Paging } from "../paging.ts";

const NAME_MAX = 255;
const DESCRIPTION_MAX = 2048;
const COLOR_MAX = 16;

const LabelName = z
  .string()
  .min(1)
  .max(NAME_MAX)
  .refine((name) => !/\p{Cc}/u.test(name), "must not contain control characters")
  .openapi({ description: "Kept as it is sent, spaces included; need not be unique" });
const LabelColor = z
  .string()
  .max(COLOR_MAX)
  .openapi({ example: "#00aabb", description: "Three or six hex digits" });
const rest = () => ({
  description: optionalText(DESCRIPTION_MAX),
  exclusive: optionalFlag().openapi({
    description:
      "Whether an issue has at most one such label of its scope, which is its name up to the last slash",
  }),
  is_archived: optionalFlag(),
});

export const CreateLabel = body({ name: LabelName, color: LabelColor, ...rest() }).openapi(
  "CreateLabelOption",
);

export const EditLabel = body({
  name: LabelName.optional(),
  color: LabelColor.optional(),
  ...rest(),
}).openapi("EditLabelOption");

/** The fields of a new label. */
export const toNewLabel = (sent: z.infer<typeof CreateLabel>) => ({
  name: sent.name,
  color: sent.color,
  description: sent.description ?? "",
  isExclusive: sent.exclusive ?? false,
  isArchived: sent.is_archived ?? false,
});

/** The fields that an edit changes. */
export const toLabelEdit = (sent: z.infer<typeof EditLabel>) => ({
  name: sent.name,
  color: sent.color,
  description: sent.description,
  isExclusive: sent.exclusive,
  isArchived: sent.is_archived,
});

/** The query of a list of labels. */
export const LabelListing = Paging.extend({
  sort: z
    .string()
    .optional()
    .transform((sort) => LABEL_ORDERS.find((each) => each === sort))
    .openapi({
      type: "string",
      description: `One of ${LABEL_ORDERS.join(", ")}; by name otherwise`,
    }),
});
