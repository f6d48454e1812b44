/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A dock: where to stream, which the settings of OBS do not offer for services
 * of modules, and how the stream goes.
 */
#include <obs-frontend-api.h>
#include <obs-module.h>
#include <util/config-file.h>

#include <QCheckBox>
#include <QDockWidget>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QPushButton>
#include <QTimer>

#include "integrations/obs/lines.h"
#include "integrations/obs/obs_tltcp.h"

namespace {

constexpr int RENEW_MS = 1000;
constexpr int FIELD_WIDTH = 240; /* pixels */
constexpr const char *ID = "tltcpDock";
constexpr const char *SECTION = "TLTCP"; /* of OBS's own settings */
constexpr const char *SHOWN = "DockShown";

struct Dock {
    QWidget *window; /* what is shown and hidden */
    QLineEdit *server;
    QLineEdit *passphrase;
    QCheckBox *low_delay;
    QPushButton *use;
    QLabel *answer;
    QLabel *heading;
    QLabel **values;
    QTimer *timer;
};

Dock dock;

/* ---- Where to stream ---- */

obs_data_t *dock_settings() {
    obs_data_t *settings = obs_data_create();
    obs_data_set_string(settings, OBS_TLTCP_SERVER,
                        dock.server->text().trimmed().toUtf8().constData());
    obs_data_set_string(settings, OBS_TLTCP_PASSPHRASE,
                        dock.passphrase->text().toUtf8().constData());
    obs_data_set_bool(settings, OBS_TLTCP_LOW_DELAY,
                      dock.low_delay->isChecked());
    return settings;
}

bool dock_check(obs_data_t *settings, char *why) {
    tltcp_live_options *options = tltcp_live_options_new();
    bool good =
        options && obs_tltcp_service_options(settings, options, why) == 0;
    tltcp_live_options_free(options);
    return good;
}

void dock_answer(const char *text) {
    dock.answer->setText(QString::fromUtf8(text));
    dock.answer->setVisible(*text != '\0');
}

void dock_use() {
    char why[TLTCP_LIVE_WHY_MAX] = "out of memory";
    obs_data_t *settings = dock_settings();
    if (!dock_check(settings, why)) {
        blog(LOG_WARNING, "[tltcp] %s", why);
        dock_answer(why);
    } else if (obs_frontend_streaming_active()) {
        dock_answer("Stop streaming first.");
    } else {
        obs_service_t *service = obs_service_create(
            OBS_TLTCP_SERVICE, "default_service", settings, nullptr);
        obs_frontend_set_streaming_service(service);
        obs_frontend_save_streaming_service();
        obs_service_release(service);
        dock_answer("Start Streaming sends there.");
    }
    obs_data_release(settings);
}

/* Shows the service of the profile, if it is ours. */
void dock_load() {
    obs_service_t *service = obs_frontend_get_streaming_service();
    const char *type = service ? obs_service_get_type(service) : nullptr;
    if (type && strcmp(type, OBS_TLTCP_SERVICE) == 0) {
        obs_data_t *settings = obs_service_get_settings(service);
        obs_data_set_default_bool(settings, OBS_TLTCP_LOW_DELAY, true);
        dock.server->setText(obs_data_get_string(settings, OBS_TLTCP_SERVER));
        dock.passphrase->setText(
            obs_data_get_string(settings, OBS_TLTCP_PASSPHRASE));
        dock.low_delay->setChecked(
            obs_data_get_bool(settings, OBS_TLTCP_LOW_DELAY));
        obs_data_release(settings);
    }
    dock_answer("");
}

/* ---- How the stream goes ---- */

void dock_renew() {
    obs_data_t *state = obs_data_create();
    obs_tltcp_state(state);
    bool streaming = obs_data_get_bool(state, "streaming");
    bool connected = obs_data_get_int(state, "connected") > 0;
    dock.heading->setText(!streaming  ? "Nothing is streamed by TLTCP."
                          : connected ? "Connected."
                                      : "Not connected yet.");
    for (size_t i = 0; i < obs_tltcp_lines(); i++) {
        char text[64] = "";
        if (streaming && connected) {
            obs_tltcp_line_value(i, state, text, sizeof(text));
        }
        dock.values[i]->setText(text);
    }
    obs_data_release(state);
}

/* ---- The widgets ---- */

QWidget *dock_make_content() {
    auto *content = new QWidget;
    auto *form = new QFormLayout(content);
    dock.server = new QLineEdit(content);
    dock.server->setPlaceholderText("tltcp://HOST:PORT");
    dock.server->setMinimumWidth(FIELD_WIDTH);
    dock.passphrase = new QLineEdit(content);
    dock.passphrase->setEchoMode(QLineEdit::Password);
    dock.passphrase->setPlaceholderText("none");
    dock.low_delay = new QCheckBox("Set the encoder up for low delay", content);
    dock.low_delay->setChecked(true);
    dock.use = new QPushButton("Stream there", content);
    dock.answer = new QLabel(content);
    dock.answer->setWordWrap(true);
    dock.heading = new QLabel(content);
    form->addRow("Server", dock.server);
    form->addRow("Passphrase", dock.passphrase);
    form->addRow(dock.low_delay);
    form->addRow(dock.use);
    form->addRow(dock.answer);
    form->addRow(dock.heading);
    dock.values = new QLabel *[obs_tltcp_lines()];
    for (size_t i = 0; i < obs_tltcp_lines(); i++) {
        dock.values[i] = new QLabel(content);
        form->addRow(obs_tltcp_line_title(i), dock.values[i]);
    }
    return content;
}

/* Gives the widget to OBS. */
void dock_add(QWidget *content) {
    auto *main = static_cast<QMainWindow *>(obs_frontend_get_main_window());
#if LIBOBS_API_MAJOR_VER >= 30
    (void)obs_frontend_add_dock_by_id(ID, "TLTCP", content);
    dock.window = main->findChild<QDockWidget *>(ID);
#else
    auto *window = new QDockWidget("TLTCP", main);
    window->setObjectName(ID);
    window->setWidget(content);
    window->setFloating(true);
    window->hide();
    (void)obs_frontend_add_dock(window);
    dock.window = window;
#endif
}

void dock_show(void *) {
    if (dock.window) {
        dock.window->show();
        dock.window->raise();
    }
}

/* So that people find it; from then on it is as they leave it. */
void dock_show_once() {
    config_t *config = obs_frontend_get_global_config();
    if (!config_get_bool(config, SECTION, SHOWN)) {
        config_set_bool(config, SECTION, SHOWN, true);
        dock_show(nullptr);
    }
}

void dock_on_event(enum obs_frontend_event event, void *) {
    if (event == OBS_FRONTEND_EVENT_FINISHED_LOADING) {
        dock_load();
        dock_show_once();
        dock.timer->start(RENEW_MS);
    } else if (event == OBS_FRONTEND_EVENT_PROFILE_CHANGED) {
        dock_load();
    } else if (event == OBS_FRONTEND_EVENT_STREAMING_STARTED) {
        dock_answer("");
    } else if (event == OBS_FRONTEND_EVENT_EXIT) {
        dock.timer->stop();
    }
}

} // namespace

void obs_tltcp_offer_window(void) {
    QWidget *content = dock_make_content();
    dock.timer = new QTimer(content);
    QObject::connect(dock.timer, &QTimer::timeout, dock_renew);
    QObject::connect(dock.use, &QPushButton::clicked, dock_use);
    QObject::connect(dock.server, &QLineEdit::returnPressed, dock_use);
    QObject::connect(dock.passphrase, &QLineEdit::returnPressed, dock_use);
    dock_renew();
    dock_answer("");
    dock_add(content);
    obs_frontend_add_event_callback(dock_on_event, nullptr);
    obs_frontend_add_tools_menu_item("TLTCP", dock_show, nullptr);
}
