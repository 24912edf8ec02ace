/** The folder of a run that holds the records of its trials. */
export const trialsFolder = "trials";
