import { z } from "@hono/zod-openapi";

/** A due date in a body, for `readSentTime`. */
export const dueDate = () =>
  z.iso.datetime({ offset: true }).optional().openapi({ format: "date-time" });
