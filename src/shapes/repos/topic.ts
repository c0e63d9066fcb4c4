import { z } from "@hono/zod-openapi";

import type { Topic as TopicRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";

export const TopicName = z.object({ topics: z.array(z.string()) }).openapi("TopicName");

export const TopicResponse = z
  .object({
    id: Int64,
    topic_name: z.string(),
    repo_count: Int64.openapi({ description: "Number of public repositories with the topic" }),
    created: Time,
    updated: Time,
  })
  .openapi("TopicResponse");

export const toTopic = (topic: TopicRow): z.infer<typeof TopicResponse> => ({
  id: topic.id,
  topic_name: topic.name,
  repo_count: topic.repoCount,
  created: formatTime(topic.createdAt),
  updated: formatTime(topic.updatedAt),
});
