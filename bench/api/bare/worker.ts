import { Hono } from "hono";

/**
 * The minimal work of Hono: one route that returns JSON of the requested size.
 * No case of the benchmark can be faster on the same machine.
 */
const app = new Hono();

app.on(["GET", "POST"], "/:bytes", (c) => {
  const bytes = Number(c.req.param("bytes"));
  return c.json({ padding: "x".repeat(Math.max(0, bytes - '{"padding":""}'.length)) });
});

export default app;
