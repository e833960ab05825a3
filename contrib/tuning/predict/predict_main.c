/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * The predictor's program.
 */

#include "predict.h"

#include <stdlib.h>

static bool predict_all(predict_t *predict)
{
    predict_outcomes_t outcomes = {.chosen = -1};
    bool good = predict_deal(&predict->call)
                && (PREDICT_PLANNED == predict->call.closed ? predict_run(predict, &outcomes)
                                                            : predict_close(predict, &outcomes));

    for (int i = 0; good && i < outcomes.count; ++i) {
        if (NULL != outcomes.of[i].plan && (predict->json || predict->explain)) {
            predict_split(predict, outcomes.limit, &outcomes.of[i]);
        }
    }
    if (good) {
        (predict->json ? predict_print_json : predict_print)(predict, &outcomes);
    }
    predict_free(&outcomes);
    return good;
}

int main(int argc, char **argv)
{
    predict_t predict;
    bool good;

    predict_defaults(&predict);
    good = predict_parse(&predict, argc, argv);
    if (good && predict.help) {
        predict_usage(stdout);
    } else if (good) {
        good = predict_all(&predict);
    }
    predict_forget(&predict.call);
    if (good && 0 != fflush(stdout)) {
        good = predict_refuse("the answer cannot be written");
    }
    return good ? EXIT_SUCCESS : 2;
}
