import { eq, sql } from "drizzle-orm";

import { repositories } from "../../../../db/schema/index.ts";
import { Failure } from "../../../../lib/failure.ts";
import { readTopicNames, TOPICS_MAX } from "../../../repos/topics/topic-name.ts";
import { setTopics } from "../../../repos/topics/set-topics.ts";
import type { ImportJob } from "../import-job.ts";

const DESCRIPTION_LENGTH_MAX = 2048;
const WEBSITE_LENGTH_MAX = 1024;

/** Takes the description, unless the caller gave one, the website and the topics. */
export async function importProject(job: ImportJob): Promise<void> {
  const { ctx, repo, source } = job;
  const project = await source.reader?.readProject();
  if (!project || job.row.options.since !== undefined) {
    await job.commit(job.nextStage());
    return;
  }
  const topics = keptTopics(project.topics);
  if (topics.length > 0 && repo.row.topics.length === 0) await setTopics(ctx, repo, topics);
  const description = project.description.slice(0, DESCRIPTION_LENGTH_MAX).toWellFormed();
  const website = /^https?:\/\//i.test(project.website)
    ? project.website.slice(0, WEBSITE_LENGTH_MAX).toWellFormed()
    : "";
  const { description: own, website: ownSite } = repositories;
  await job.commit(
    { ...job.nextStage(), progress: job.counted(1) },
    {
      repository: ctx.db
        .update(repositories)
        .set({
          description: sql`iif(${own} = '', ${description}, ${own})`,
          website: sql`iif(${ownSite} = '', ${website}, ${ownSite})`,
        })
        .where(eq(repositories.id, repo.row.id)),
    },
  );
}

/** The topics that a repository can have here. */
function keptTopics(names: readonly string[]): string[] {
  const valid = names.filter((name) => {
    try {
      return readTopicNames([name]).length > 0;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  });
  return [...new Set(readTopicNames(valid.slice(0, TOPICS_MAX)))];
}
