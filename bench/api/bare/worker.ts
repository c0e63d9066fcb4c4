import { Hono } from "hono";

/**
 * What Hono does when it has nothing to do: one route, which answers JSON of the size asked for.
 * A case of the benchmark can't be faster than this on the same machine.
 */
const app = new Hono();

app.on(["GET", "POST"], "/:bytes", (c) => {
  const bytes = Number(c.req.param("bytes"));
  return c.json({ padding: "x".repeat(Math.max(0, bytes - '{"padding":""}'.length)) });
});

export default app;
