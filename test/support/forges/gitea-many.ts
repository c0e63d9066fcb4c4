import { type GiteaProject, HERE, type Json, SAMPLE_NAME } from "./gitea-sample.ts";

/** How many items a project has beside those of the sample. */
export interface ManyItems {
  issues: number;
  commentsEach: number;
}

/** The first number and id of what is added: above those of the sample. */
const FIRST = 100_000;
const START = Date.UTC(2024, 5, 1);
const MINUTE = 60_000;

/** The sample with many more issues, each with comments of its own. */
export function withMany(project: GiteaProject, { issues, commentsEach }: ManyItems): GiteaProject {
  const [issue = {}] = project.issues.slice(-1);
  const [comment = {}] = project.comments.slice(-1);
  const added: Json[] = [];
  const comments: Json[] = [];
  for (let at = 0; at < issues; at++) {
    const number = FIRST + at;
    const path = `${HERE}/${SAMPLE_NAME}/issues/${number}`;
    const time = new Date(START + at * MINUTE).toISOString();
    const isClosed = at % 3 === 0;
    added.push({
      ...issue,
      id: number,
      number,
      url: `${HERE}/api/v1/repos/${SAMPLE_NAME}/issues/${number}`,
      html_url: path,
      title: `One of many: ${number}`,
      body: `What happens with ${number}, see #${Math.max(FIRST, number - 1)}\n`.repeat(10),
      labels: at % 5 === 0 ? project.labels.slice(0, 2) : [],
      state: isClosed ? "closed" : "open",
      closed_at: isClosed ? time : null,
      comments: commentsEach,
      created_at: time,
      updated_at: time,
    });
    for (let each = 0; each < commentsEach; each++) {
      const id = FIRST + at * commentsEach + each;
      comments.push({
        ...comment,
        id,
        html_url: `${path}#issuecomment-${id}`,
        pull_request_url: "",
        issue_url: path,
        body: `Answer ${each} to ${number}`,
        created_at: time,
        updated_at: time,
      });
    }
  }
  return {
    ...project,
    issues: [...project.issues, ...added],
    comments: [...project.comments, ...comments],
  };
}
