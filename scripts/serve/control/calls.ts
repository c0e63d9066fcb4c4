/**
 * What `npm start` asks of the service beside requests: statements, steps of the start, triggers.
 */
export type ControlCall =
  | { kind: "batch"; statements: { sql: string; values: unknown[] }[] }
  | { kind: "setup"; method: string; args: unknown[] }
  | { kind: "scheduled"; cron: string; at: number };
