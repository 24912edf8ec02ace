/** @lathe/hosts/measure: figures and alerts from the logs of this machine. */
export { alertTask } from "./src/measure/alert-task.ts";
export { type ExperimentFound, readExperiment, readExperiments } from "./src/measure/read-experiment.ts";
export { readKeepRates } from "./src/measure/read-keep.ts";
export { type Report, readReport } from "./src/measure/read-report.ts";
export { type Judged, satisfactionByModel, satisfactionByRules } from "./src/measure/read-satisfaction.ts";
export { sendTickets } from "./src/measure/send-tickets.ts";
