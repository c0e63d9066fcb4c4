import { z } from "zod";

/** The fields of a V8 CPU profile that are read here. Times are in microseconds. */
export const Profile = z.object({
  nodes: z.array(z.object({ id: z.number(), callFrame: z.object({ functionName: z.string() }) })),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

/** Active time of the profiled isolate, in milliseconds: all samples that are not idle. */
export function activeMs({ nodes, samples, timeDeltas }: z.infer<typeof Profile>): number {
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id),
  );
  const active = samples.map((id, index) => (idle.has(id) ? 0 : (timeDeltas[index] ?? 0)));
  return active.reduce((sum, delta) => sum + delta, 0) / 1000;
}
