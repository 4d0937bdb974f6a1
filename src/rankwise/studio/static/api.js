// Talking to the server: requests with plain errors, jobs that are watched until they end, downloads that may wait.

export class Refused extends Error {
  constructor(status, answer) {
    super(answer?.error ?? `The server answered ${status}.`);
    this.status = status;
    this.cure = answer?.cure ?? "";
    this.choices = answer?.choices ?? [];
    this.job = answer?.job ?? null;
  }
}

const GONE = { error: "The studio does not answer.", cure: "Start it again: rankwise studio" };

async function request(method, path, { json, body, signal } = {}) {
  const headers = {};
  if (json !== undefined) headers["Content-Type"] = "application/json";
  if (body !== undefined) headers["Content-Type"] = "application/octet-stream";
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, body: json === undefined ? body : JSON.stringify(json) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, GONE);
  }
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => null));
  return answer;
}

async function asked(method, path, options) {
  const answer = await request(method, path, options);
  return answer.status === 204 ? null : answer.json();
}

export const examples = () => asked("GET", "/api/examples");
export const project = (id) => asked("GET", `/api/projects/${encodeURIComponent(id)}`);
export const newProject = (name, body) => asked("POST", `/api/projects?name=${encodeURIComponent(name)}`, { body });
export const openProject = (body) => asked("POST", "/api/projects/open", { body });
export const newExample = (name) => asked("POST", `/api/projects?example=${encodeURIComponent(name)}`, { body: "" });
export const change = (id, options) => asked("PATCH", `/api/projects/${encodeURIComponent(id)}`, { json: { options } });
export const cancel = (job) => asked("DELETE", `/api/jobs/${encodeURIComponent(job)}`);

export function attach(id, name, role, body) {
  const query = new URLSearchParams({ name, role });
  return asked("POST", `/api/projects/${encodeURIComponent(id)}/files?${query}`, { body });
}

const ended = (job) => job.state === "done" || job.state === "failed" || job.state === "cancelled";

// Ask for a view and watch its job. The same question finds a job that runs already: a page that was loaded again
// goes on where it was. `tell` gets every state of the job.
export async function work(id, view, params, tell, signal) {
  const path = `/api/projects/${encodeURIComponent(id)}/jobs`;
  return watch(await asked("POST", path, { json: { view, params }, signal }), tell, signal);
}

export async function watch(job, tell, signal) {
  tell(job);
  if (!ended(job)) {
    await new Promise((resolve, reject) => {
      const events = new EventSource(`/api/jobs/${encodeURIComponent(job.id)}/events`);
      const stop = (then, value) => {
        events.close();
        then(value);
      };
      signal?.addEventListener("abort", () => stop(reject, new DOMException("left", "AbortError")));
      events.addEventListener("job", (event) => {
        job = JSON.parse(event.data);
        tell(job);
        if (ended(job)) stop(resolve);
      });
      events.onerror = () => stop(resolve);
    });
  }
  // Where the stream broke, or left the result out, ask; a job that still runs is asked again now and then.
  while (!ended(job) || (job.state === "done" && !job.result)) {
    job = await asked("GET", `/api/jobs/${encodeURIComponent(job.id)}`, { signal });
    tell(job);
    if (!ended(job)) await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return job;
}

// The bytes of a file; the server may have to make it first, and names the job to wait for.
export async function download(id, name, params, tell, signal) {
  const query = new URLSearchParams(params ?? {}).toString();
  const path = `/api/projects/${encodeURIComponent(id)}/download/${encodeURIComponent(name)}${query ? `?${query}` : ""}`;
  for (let attempt = 0; ; attempt++) {
    const answer = await request("GET", path, { signal });
    if (answer.status !== 202) return answer.blob();
    const job = await watch(await answer.json(), tell, signal);
    if (job.state !== "done" || attempt > 2) throw new Refused(409, job.error ?? { error: "The file was not made." });
  }
}
