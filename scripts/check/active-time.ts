import { z } from "zod";

/** A V8 processor profile, as far as it is read here. Times are in microseconds. */
export const Profile = z.object({
  nodes: z.array(z.object({ id: z.number(), callFrame: z.object({ functionName: z.string() }) })),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

/** Milliseconds in which the profiled isolate did anything: the samples that are not idle. */
export function activeMs({ nodes, samples, timeDeltas }: z.infer<typeof Profile>): number {
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id),
  );
  const active = samples.map((id, index) => (idle.has(id) ? 0 : (timeDeltas[index] ?? 0)));
  return active.reduce((sum, delta) => sum + delta, 0) / 1000;
}
