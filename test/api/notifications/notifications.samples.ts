import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const threadPath = async (world: World) => ({ path: { id: (await world.notification()).id } });

const listVariants = async () => [
  { query: { all: "true" } },
  { query: { "status-types": "read", "subject-type": "pull" } },
  { query: { since: "1970-01-01T00:00:00Z", before: "2100-01-01T00:00:00Z" } },
];
const markVariants = async () => [
  { query: { all: "true", "to-status": "pinned" } },
  { query: { "status-types": "pinned", "to-status": "unread" } },
];

export const samples = defineSamples({
  notifyGetList: {
    request: async (world) => {
      await world.notification();
      return {};
    },
    variants: listVariants,
  },
  notifyReadList: {
    request: async (world) => {
      await world.notification();
      return { query: { last_read_at: "2100-01-01T00:00:00Z" } };
    },
    announces: NOTHING,
    variants: markVariants,
  },
  notifyNewAvailable: {
    request: async (world) => {
      await world.notification();
      return {};
    },
  },
  notifyGetThread: { request: threadPath },
  notifyReadThread: { request: threadPath, announces: NOTHING },
});
